echo "apache2 listens on $(sed -n 's/.*"listen_port":\([0-9]*\).*/\1/p' "$attributes")"
echo listens=8080 >"$outputs"
