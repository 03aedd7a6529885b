print("sessiondemo")
