case $(cat "$attributes") in
*'"services":{"apache2":"start"}'*) echo "apache2 is made to start" ;;
*'"services":{"apache2":"stop"}'*) echo "apache2 is made to stop" ;;
esac
