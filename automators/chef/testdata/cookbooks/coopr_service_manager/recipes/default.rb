log node['coopr']['node']['services']
