"""What every room uses: files, kinds of files, and what is built in.

Nothing here knows drives that are run, results, or how anything is shown.
"""
