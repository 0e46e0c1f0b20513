echo "a newer apache2"
