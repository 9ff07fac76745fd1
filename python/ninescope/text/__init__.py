"""The room of text: what a reader sees in a terminal or a pipe.

What is shown comes from rooms below; nothing here knows figures, pictures or reports.
"""
