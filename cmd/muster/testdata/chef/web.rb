name 'web'
run_list 'recipe[apache2]'
