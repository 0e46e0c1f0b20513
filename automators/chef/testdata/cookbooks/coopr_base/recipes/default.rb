log node['coopr']['cluster']['nodes']
