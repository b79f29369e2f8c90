"""The HTTP surface. Nothing is imported here: who only reads its resources needs no server."""
