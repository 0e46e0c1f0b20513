echo "ntp"
