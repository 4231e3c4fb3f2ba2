// The delegate of the earlier variant is compiled; nothing calls it.
@main
struct Earlier {
    static func main() { print("compiled") }
}
