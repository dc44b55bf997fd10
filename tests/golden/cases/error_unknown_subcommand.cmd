catalog lst
