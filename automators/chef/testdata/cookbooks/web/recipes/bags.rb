# The shell of somebody whom a data bag knows.
file node['web']['shell'] do
  content data_bag_item('people', 'ada')['shell']
end
