/// The formats that an output can be written in.
enum OutputFormat: String, Sendable, Equatable, CaseIterable {
    case ts, mp4, mkv, y4m, rawvideo, wav, s16le, f32le, framemd5
    /// Decodes and drops; with `--no-decode` it loads and drops.
    case null

    /// The kinds of media that the format can hold.
    var media: (video: Bool, audio: Bool) {
        switch self {
        case .ts, .mp4, .mkv, .framemd5, .null: (true, true)
        case .y4m, .rawvideo: (true, false)
        case .wav, .s16le, .f32le: (false, true)
        }
    }

    /// Whether decoded media is written; the containers take the samples as they are.
    var needsDecoder: Bool {
        switch self {
        case .ts, .mp4, .mkv, .null: false
        case .y4m, .rawvideo, .wav, .s16le, .f32le, .framemd5: true
        }
    }

    /// The format that the ending of a file name stands for; nil where it stands for none.
    init?(fileName: String) {
        let name = fileName.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        switch name[dot...].dropFirst().lowercased() {
        case "ts", "m2ts", "mts": self = .ts
        case "mp4", "m4v", "m4a": self = .mp4
        case "mkv", "mka": self = .mkv
        case "y4m": self = .y4m
        case "yuv", "rgb", "rawvideo": self = .rawvideo
        case "wav": self = .wav
        case "s16le", "pcm": self = .s16le
        case "f32le": self = .f32le
        case "md5", "framemd5": self = .framemd5
        default: return nil
        }
    }

    init(parsing text: String) throws(ArgumentValueError) {
        guard let format = Self(rawValue: text.lowercased()) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw ArgumentValueError("not a format; there are \(names)")
        }
        self = format
    }
}

/// One `-o` with its format.
struct OutputArgument: Sendable, Equatable {
    enum Destination: Sendable, Hashable {
        case standardOutput
        case file(path: String)

        init(_ text: String) { self = text == "-" ? .standardOutput : .file(path: text) }
    }

    var destination: Destination
    var format: OutputFormat

    /// The outputs that `-o` and `-f` name together.
    ///
    /// With one output `-f` decides. With several it is for those whose name does not tell.
    static func outputs(
        _ names: [String], format: OutputFormat?
    ) throws(ArgumentValueError) -> [OutputArgument] {
        if names.isEmpty {
            guard let format, format != .null else { return [] }
            throw ArgumentValueError("-f \(format.rawValue) needs -o FILE, or -o - for standard output")
        }
        if format == .null { throw ArgumentValueError("-f null writes nothing: leave -o away") }
        var outputs: [OutputArgument] = []
        for name in names {
            guard !name.isEmpty else {
                throw ArgumentValueError("-o needs the name of a file, or - for standard output")
            }
            let destination = Destination(name)
            if outputs.contains(where: { $0.destination == destination }) {
                throw ArgumentValueError("-o \(TerminalText.escaped(name)) is there twice")
            }
            let known = OutputFormat(fileName: name)
            guard let chosen = names.count == 1 ? format ?? known : known ?? format else {
                let what =
                    name == "-" ? "standard output has no format" : "no known ending in \(TerminalText.escaped(name))"
                throw ArgumentValueError("-o: \(what); name it with -f")
            }
            outputs.append(OutputArgument(destination: destination, format: chosen))
        }
        return outputs
    }
}
