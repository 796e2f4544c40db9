@main
struct Lanekeeper {
    static func main() {}
}
