import ArgumentParser
import HLSGetKit
import HLSKitCore

struct ThumbnailsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnails", abstract: "Save still images, a contact sheet, a storyboard.",
        usage: "hlsget thumbnails URL|FILE [options]",
        discussion: """
            Loads only what the images need: I-frame playlists if there are any, else the start of segments of the \
            smallest variant that is large enough. A live stream is limited to the currently listed media. Exit status 10 means \
            that some images are missing.

              hlsget thumbnails --times 1:30 -o still.jpg URL
              hlsget thumbnails --times 5,1:30,10m -o still-%03d.png URL
              hlsget thumbnails --every 10 --sheet sheet.jpg --storyboard sheet.vtt URL
            """)
    static let _errorLabel = CommandInfo.errorLabel

    @Argument(
        help: ArgumentHelp("URL or path of a stream or a media file, or - for standard input.", valueName: "url"),
        completion: .file())
    var input: String

    @Option(
        help: ArgumentHelp("Number of images, spread evenly over the stream (20 by default).", valueName: "n"),
        transform: ThumbnailArgument.count)
    var count: Int?
    @Option(
        help: ArgumentHelp("At these times of the stream, one image each, e.g. 2,1:30,1m30s.", valueName: "list"),
        transform: ThumbnailArgument.times)
    var times: [Duration]?
    @Option(
        help: ArgumentHelp("One image per interval, e.g. 10.", valueName: "time"),
        transform: NumberArgument.positiveDuration)
    var every: Duration?
    @Flag(help: "Use the exact frames at those times, not the nearest ones that are cheap to load.") var exact = false

    @Option(
        help: ArgumentHelp(
            "Fit into this size; 0 keeps the aspect ratio, 0x0 is full size (320x0; one image by itself 0x0).",
            valueName: "wxh"),
        transform: ThumbnailArgument.size)
    var size: PixelSize?
    @Flag(help: "Keep the values of HDR video instead of mapping them to SDR.") var keepHdr = false
    @Option(
        name: .shortAndLong, help: ArgumentHelp("jpeg (the default) or png.", valueName: "name"),
        transform: ChoiceArgument.parse)
    var format: ThumbnailFormat?
    @Option(
        name: [.customLong("jpeg-quality"), .customLong("quality")],
        help: ArgumentHelp("JPEG quality, from 1 to 100 (85).", valueName: "n"), transform: ThumbnailArgument.quality)
    var quality = 85

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A folder, a name with a number pattern, e.g. still-%03d.png, or - for one image on standard output.",
            valueName: "name"))
    var output: String?
    @Option(help: ArgumentHelp("All images in one: .jpg or .png.", valueName: "file"), completion: .file()) var sheet:
        String?
    @Option(help: ArgumentHelp("Images per row of the sheet.", valueName: "n"), transform: ThumbnailArgument.count)
    var columns: Int?
    @Option(
        help: ArgumentHelp("WebVTT that maps times to images in the sheet.", valueName: "file"), completion: .file())
    var storyboard: String?
    @Flag(name: [.customShort("y"), .long], help: "Overwrite existing files.") var overwrite = false

    @Flag(help: "Print the result as one JSON document.") var json = false
    @OptionGroup var saying: VerbosityOptions
    @Flag(help: "Let a local playlist name files outside its folder.") var allowFile = false
    @Option(
        help: ArgumentHelp(
            "Cache media in this folder, up to 512 MiB, as HTTP caching rules allow.", valueName: "folder"),
        completion: .directory
    )
    var cache: String?
    @OptionGroup(title: "Network") var connection: ConnectionOptions
    @OptionGroup(title: "Keys") var keys: KeyOptions

    mutating func validate() throws {
        try connection.check()
        if [count != nil, times != nil, every != nil].count(where: \.self) > 1 {
            throw ValidationError("--count, --times and --every are mutually exclusive")
        }
        if storyboard != nil && sheet == nil {
            throw ValidationError("--storyboard requires --sheet")
        }
        if output == "-", json { throw ValidationError("--json and -o - both need standard output") }
        if columns != nil && sheet == nil { throw ValidationError("--columns requires --sheet") }
        do {
            if let sheet { _ = try ThumbnailFormat(path: sheet) }
            _ = try names()
        } catch {
            throw ValidationError(error.description)
        }
    }

    mutating func run() async throws {
        let status = await ThumbnailsRun(self).run()
        if status != .done { throw status.exitCode }
    }

    /// The names of single images, or `nil` if none are requested.
    func names() throws(ArgumentValueError) -> ThumbnailNames? {
        if output == nil, sheet != nil { return nil }
        return try ThumbnailNames(output ?? "", format: format)
    }
}

enum ThumbnailFormat: String, CaseIterable, Sendable {
    case jpeg, png

    init(path: String) throws(ArgumentValueError) {
        let ending = path.split(separator: ".").last.map { $0.lowercased() }
        switch ending {
        case "jpg", "jpeg": self = .jpeg
        case "png": self = .png
        default: throw ArgumentValueError("\(TerminalText.escaped(path)) must end in .jpg or .png")
        }
    }

    func imageFormat(quality: Int) -> StillImage.Format { self == .png ? .png : .jpeg(quality: quality) }
}

enum ThumbnailArgument {
    static func count(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 1...10_000) }
    static func quality(_ text: String) throws(ArgumentValueError) -> Int { try integer(text, in: 1...100) }

    static func times(_ text: String) throws(ArgumentValueError) -> [Duration] {
        var times: [Duration] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            times.append(try DurationArgument.parse(String(part)))
        }
        guard times.count <= 10_000 else { throw ArgumentValueError("at most 10000 times are allowed") }
        return times.sorted()
    }

    static func size(_ text: String) throws(ArgumentValueError) -> PixelSize {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard sides.count == 2, sides.allSatisfy({ (0...16_384).contains($0) }) else {
            throw ArgumentValueError("not a size; write WIDTHxHEIGHT in pixels, as in 320x0")
        }
        return PixelSize(width: sides[0], height: sides[1])
    }

    private static func integer(_ text: String, in range: ClosedRange<Int>) throws(ArgumentValueError) -> Int {
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(text), range.contains(value) else {
            throw ArgumentValueError("expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
