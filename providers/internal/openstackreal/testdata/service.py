# Runs one of OpenStack's services, or one of its tools, from the Python module that has its main function. Debian's packages of the programs have
# the same, with accounts and units that a test doesn't need.
import importlib
import sys

module = sys.argv[1]
sys.argv = [module.split(".")[0] + "-" + module.rsplit(".")[-1]] + sys.argv[2:]
if module.startswith("neutron.cmd"):
    # Neutron's threads would load its models one by one, while the first requests already use some. Before that, eventlet has to replace threads: with
    # those of the system, requests share each other's transactions.
    import neutron.cmd.eventlet  # noqa: F401
    import neutron.objects
    from sqlalchemy.orm import configure_mappers

    neutron.objects.register_objects()
    configure_mappers()
sys.exit(importlib.import_module(module).main())
