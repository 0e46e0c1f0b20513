name 'coopr_service_manager'
version '1.0.0'
