import ArgumentParser
import HLSGetKit
import HLSKitCore

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List variants and renditions, with estimated sizes and the option for each.",
        usage: "hlsget list URL|FILE|- [options]",
        discussion: """
            * marks the variant that a download saves. Sizes are estimates: the declared bit rate (average if there is one, \
            else peak) times the duration. The last column says why a variant cannot be played here. hlsget play -F and \
            hlsget download -F do the same.
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a playlist, or - for standard input.", valueName: "url"), completion: .file()
    )
    var url: String
    @Option(
        help: ArgumentHelp(
            "Mark the variant that this selects, e.g. 720p or 'height<=720 codec=hevc'.", valueName: "expr"),
        transform: { try QualityExpression(argument: $0, for: .variants) })
    var quality: QualityExpression?
    @OptionGroup var source: SourceOptions
    @Flag(help: "Print one JSON object instead of tables.") var json = false
    @OptionGroup var saying: VerbosityOptions
    @OptionGroup(title: "Network") var connection: ConnectionOptions

    mutating func validate() throws {
        try source.check([url])
        try connection.check()
    }

    mutating func run() async throws {
        guard let directory = InputLocation.workingDirectory() else {
            throw ValidationError("the working directory does not exist")
        }
        var options = PlayOptions(url: url)
        connection.apply(to: &options)
        options.quality = quality
        options.allowsFilesOutside = source.allowFile
        if url == InputLocation.standardInput {
            let input = try StandardInput.reading(baseURL: source.baseURL)
            options.standardInput = input
            options.url = input.url
        } else {
            do { options.url = try InputLocation.url(of: url, in: directory) } catch {
                throw ValidationError(error.description)
            }
        }
        let status = await ListRun(options, json: json, saying: saying).run()
        if status != .done { throw status.exitCode }
    }
}
