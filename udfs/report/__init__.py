"""The report: frames in, Markdown and HTML out. Pure, but for `files`, which writes what the others make."""
