//! A code with its codec, as the engine asks for it: how many codewords, how long, how much parity.
//!
//! This module must not know how errors come to be, nor what waits for a decoder.

use ninescope_kernel::Ns;

use crate::code::Code;
use crate::error::CodeError;
use crate::timing::CodecTiming;

/// How many decoders there are, and what they are asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoders {
    /// Decoders of a channel, or of the drive where they are shared.
    pub count: u32,
    /// Whether all channels share them.
    pub shared: bool,
    /// Whether parity crosses the channel with its data.
    pub moves_parity: bool,
    /// Whether the die or bank keeps the data of a read until it is decoded.
    pub holds_die: bool,
}

/// A code with its codec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    code: Code,
    timing: CodecTiming,
    decoders: Decoders,
    undetected: f64,
}

impl Scheme {
    /// A code, the times of its codec, and the decoders there are.
    ///
    /// # Errors
    /// For no decoders, and for user data that is no whole number of bytes.
    pub fn new(code: Code, timing: CodecTiming, decoders: Decoders) -> Result<Self, CodeError> {
        if decoders.count == 0 {
            return Err(CodeError::new("decoders", "is 0, codewords need at least 1"));
        }
        if !code.user_bits().is_multiple_of(8) {
            let message = format!("is {} bits, a codeword holds whole bytes", code.user_bits());
            return Err(CodeError::new("user_data", message));
        }
        Ok(Self { code, timing, decoders, undetected: code.undetected() })
    }

    /// The code itself.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The times of one codeword.
    pub fn timing(&self) -> &CodecTiming {
        &self.timing
    }

    /// User data of a codeword [bytes].
    pub fn user_bytes(&self) -> u32 {
        self.code.user_bits() / 8
    }

    /// Length of a codeword, n [bits].
    pub fn codeword_bits(&self) -> u32 {
        self.code.codeword_bits()
    }

    /// Errors that are corrected in a codeword, t [bits]; 0 for a code that only detects.
    pub fn correctable(&self) -> u32 {
        self.code.correctable()
    }

    /// Parity of a codeword, rounded up [bytes].
    pub fn parity_bytes(&self) -> u32 {
        self.code.parity_bytes()
    }

    /// Codewords that cover so many bytes of user data [count].
    pub fn codewords(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.user_bytes())
    }

    /// Time of an encoder for so many codewords.
    pub fn encode_time(&self, codewords: u32) -> Ns {
        self.timing.encoding(codewords)
    }

    /// Time of a decoder for so many codewords, of which so many hold errors.
    pub fn decode_time(&self, codewords: u32, corrupted: u32) -> Ns {
        self.timing.decoding(codewords, corrupted)
    }

    /// The chance that a codeword with more errors than are corrected passes as good; see [`Code::undetected`].
    pub fn undetected(&self) -> f64 {
        self.undetected
    }

    /// Decoders of a channel, or of the drive where they are shared [count].
    pub fn decoders(&self) -> u32 {
        self.decoders.count
    }

    /// Whether all channels share the decoders.
    pub fn shared(&self) -> bool {
        self.decoders.shared
    }

    /// Whether parity crosses the channel with its data.
    pub fn moves_parity(&self) -> bool {
        self.decoders.moves_parity
    }

    /// Whether the die or bank keeps the data of a read until it is decoded.
    pub fn holds_die(&self) -> bool {
        self.decoders.holds_die
    }
}
