//! What there is to say of a file of fio: a sentence once, with the jobs that it is about.

use std::collections::BTreeMap;

/// What there is to say about the jobs of a file.
#[derive(Default)]
pub struct Notes {
    unchanged: Vec<(&'static str, Vec<String>)>,
    effects: BTreeMap<&'static str, (&'static str, Vec<String>)>,
    /// Sentences, each with the jobs that it is about.
    others: Vec<(String, Vec<String>)>,
    /// The job that is being read.
    job: String,
}

impl Notes {
    /// From here on about this job.
    pub fn of(&mut self, job: &str) -> &mut Self {
        job.clone_into(&mut self.job);
        self
    }

    /// Once, whatever number of jobs it is about.
    pub fn say(&mut self, sentence: String) {
        Self::add(&mut self.others, sentence, &self.job);
    }

    pub fn unchanged(&mut self, option: &'static str) {
        Self::add(&mut self.unchanged, option, &self.job);
    }

    pub fn effect(&mut self, option: &'static str, effect: &'static str) {
        let (_, jobs) = self.effects.entry(option).or_insert((effect, Vec::new()));
        jobs.push(self.job.clone());
    }

    /// A job among those that the same is said of.
    fn add<T: PartialEq>(said: &mut Vec<(T, Vec<String>)>, what: T, job: &str) {
        match said.iter_mut().find(|(other, _)| *other == what) {
            Some((_, jobs)) if jobs.last().is_some_and(|last| last == job) => {}
            Some((_, jobs)) => jobs.push(job.to_owned()),
            None => said.push((what, vec![job.to_owned()])),
        }
    }

    /// Of a file of so many jobs: what is about some of them names those.
    pub fn sentences(self, jobs_in_all: usize) -> Vec<String> {
        let named = |sentence: &str, jobs: &[String]| match jobs {
            all if all.len() == jobs_in_all => sentence.to_owned(),
            [job] => format!("job {job}: {sentence}"),
            some => format!("jobs {}: {sentence}", some.join(", ")),
        };
        let mut notes: Vec<String> = self.others.iter().map(|(sentence, jobs)| named(sentence, jobs)).collect();
        // Options of one effect and of the same jobs share a sentence.
        let mut by_effect: BTreeMap<(&str, Vec<String>), Vec<&str>> = BTreeMap::new();
        for (option, of) in self.effects {
            by_effect.entry(of).or_default().push(option);
        }
        let effects =
            by_effect.iter().map(|((effect, jobs), options)| (format!("{}: {effect}", options.join(", ")), jobs));
        notes.extend(effects.map(|(sentence, jobs)| named(&sentence, jobs)));
        let mut unchanged: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
        for (option, jobs) in self.unchanged {
            match unchanged.iter_mut().find(|(of, _)| *of == jobs) {
                Some((_, options)) => options.push(option),
                None => unchanged.push((jobs, vec![option])),
            }
        }
        let unchanged = unchanged.iter().map(|(jobs, options)| (jobs, options.join(", ")));
        notes.extend(
            unchanged.map(|(jobs, names)| named(&format!("fio options that change nothing here: {names}"), jobs)),
        );
        notes
    }
}
