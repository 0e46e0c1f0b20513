name 'coopr_base'
version '1.0.0'
