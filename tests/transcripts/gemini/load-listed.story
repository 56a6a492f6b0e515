ready: resumed=True version='gemini-cli 0.61.0' model='gemini-2.5-pro' id=True
