# The shell of a user in a data bag.
file node['web']['shell'] do
  content data_bag_item('people', 'ada')['shell']
end
