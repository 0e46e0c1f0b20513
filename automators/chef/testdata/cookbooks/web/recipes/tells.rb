# Everything that Coopr's own recipes look at.
file node['web']['file'] do
  content node['coopr']
end
