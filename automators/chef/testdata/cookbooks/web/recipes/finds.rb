# What a recipe has found out is known to later steps.
file node['muster']['outputs'] do
  content node['web']['found']
end
