print("sessionreplay")
