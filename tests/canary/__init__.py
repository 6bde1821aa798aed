"""`make canary`: does the newest upstream still have what we use of its private parts?"""
