import ArgumentParser

@main
struct HLSGet: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hlsget")
}
