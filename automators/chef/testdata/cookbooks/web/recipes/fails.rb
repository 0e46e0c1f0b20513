raise 'the web is not to be had'
