"""The console: a page that runs in the browser and uses the HTTP interface like every other client.

What is in `static` is built from the sources in the folder `console` of the project, and by `make console` alone.
"""
