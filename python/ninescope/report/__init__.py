"""Reports: one HTML file that needs nothing else.

`document` says what a report consists of, `html` writes it, `single` makes the document of one run.
"""
