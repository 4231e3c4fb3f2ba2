"""The provisioning workbook: walk, break and test in-app wallet card provisioning before going live.

Names are imported from their own modules, such as `from workbook.benches.bench_a import Bench`. Importing the
package itself loads nothing else, so the command line stays quick.
"""

__version__ = "0.1.0"
