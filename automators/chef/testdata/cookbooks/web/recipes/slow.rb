log 'under way'
sleep 600
