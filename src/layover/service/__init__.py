"""The operations of an engine as one user does them: checked, audited, and with results that callers get.

Every surface ends here: an embedded `Engine` and the routes of HTTP call the same methods. The runtime below knows
neither permissions nor the audit log; the surfaces above add nothing to what is decided here.
"""
