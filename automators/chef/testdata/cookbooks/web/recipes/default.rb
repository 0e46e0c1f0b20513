# Writes the configuration's message to where the action says.
log node['coopr']['hostname']
file node['web']['file'] do
  content node['web']['motd']
end
