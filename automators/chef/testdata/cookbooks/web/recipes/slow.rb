log 'running now'
sleep 600
