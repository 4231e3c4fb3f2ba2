// swift-tools-version:5.7
import PackageDescription

let package = Package(
    name: "Reference",
    dependencies: [.package(path: "../later")],
    targets: [
        .target(name: "Combine"),
        .target(name: "Security"),
        .executableTarget(
            name: "Probe",
            dependencies: ["Combine", "Security", .product(name: "Provisioning", package: "later")]),
    ]
)
