"""Small changes to the modules that must not err: does a test notice each?"""
