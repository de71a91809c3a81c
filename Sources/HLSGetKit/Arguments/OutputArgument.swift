package import HLSKitCore

extension OutputFormat {
    var media: (video: Bool, audio: Bool) {
        switch self {
        case .ts, .mp4, .mkv, .framemd5, .null: (true, true)
        case .y4m, .rawvideo: (true, false)
        case .wav, .s16le, .f32le, .aac, .mp3: (false, true)
        }
    }

    /// Whether decoded media is written. Containers store the encoded samples.
    package var needsDecoder: Bool {
        switch self {
        case .ts, .mp4, .mkv, .aac, .mp3, .null: false
        case .y4m, .rawvideo, .wav, .s16le, .f32le, .framemd5: true
        }
    }

    /// Whether the format stores encoded samples and allows a recording to continue in a second file.
    var isContainer: Bool { [.ts, .mp4, .mkv, .aac, .mp3].contains(self) }

    package init(parsing text: String) throws(ArgumentValueError) {
        guard let format = Self(rawValue: text.lowercased()) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw ArgumentValueError("unknown format; expected one of: \(names)")
        }
        self = format
    }
}

package struct OutputArgument: Sendable, Equatable {
    package enum Destination: Sendable, Hashable {
        case standardOutput
        case file(path: String)
        /// The standard input of a command.
        case program(String)

        init(_ text: String) { self = text == "-" ? .standardOutput : .file(path: text) }

        package var path: String {
            switch self {
            case .standardOutput, .program: "-"
            case .file(let path): path
            }
        }
    }

    package var destination: Destination
    package var format: OutputFormat

    /// The media kinds of the output: the format's, restricted by the file extension.
    package var media: (video: Bool, audio: Bool) {
        let isAudioOnly = OutputFormat.isAudioOnly(path: destination.path)
        return (format.media.video && !isAudioOnly, format.media.audio)
    }

    /// Combines the values of `-o` and `-f`.
    ///
    /// If there are as many `-f` as `-o`, they are paired in order and take precedence: `-f ts -o a.mp4` writes a
    /// transport stream. A single `-f` for several `-o` applies to names without a known extension. If every name has
    /// one, it is ambiguous and an error.
    package static func outputs(
        _ names: [String], formats: [OutputFormat]
    ) throws(ArgumentValueError) -> [OutputArgument] {
        guard formats.count <= max(1, names.count) else { throw ArgumentValueError("there are more -f than -o") }
        if names.isEmpty {
            guard let format = formats.first, format != .null else { return [] }
            if format == .framemd5 { return [OutputArgument(destination: .standardOutput, format: format)] }
            throw ArgumentValueError("-f \(format.rawValue) needs -o FILE, or -o - for standard output")
        }
        if formats.contains(.null) { throw ArgumentValueError("-f null writes nothing; remove -o") }
        guard formats.isEmpty || formats.count == names.count || formats.count == 1 else {
            throw ArgumentValueError("give one -f for each -o, or one for the only -o without a known extension")
        }
        var usesFormat = formats.count == names.count
        var outputs: [OutputArgument] = []
        for (index, name) in names.enumerated() {
            guard !name.isEmpty else {
                throw ArgumentValueError("-o needs a file name, or - for standard output")
            }
            let destination = Destination(name)
            if outputs.contains(where: { $0.destination == destination }) {
                throw ArgumentValueError("-o \(TerminalText.escaped(name)) is given twice")
            }
            let known = OutputFormat(path: name)
            let format = formats.count == names.count ? formats[index] : formats.first
            if known == nil { usesFormat = true }
            // Pipes default to a transport stream, which most readers accept.
            let usual = destination == .standardOutput ? OutputFormat.ts : nil
            guard let chosen = formats.count == names.count ? format : known ?? format ?? usual else {
                let names = OutputFormat.allCases.filter { $0 != .null }.map(\.rawValue).joined(separator: ", ")
                throw ArgumentValueError(
                    "-o: unknown file extension in \(TerminalText.escaped(name)); use -f with one of \(names)")
            }
            outputs.append(OutputArgument(destination: destination, format: chosen))
        }
        if let format = formats.first, !usesFormat {
            throw ArgumentValueError(
                "-f \(format.rawValue): every -o has a known extension; give one -f for each -o")
        }
        return outputs
    }

    /// Adds the argument for reading standard input to a bare player name, as in `--player mpv`.
    private static func readingStandardInput(_ command: String) -> String {
        let name = command.trimmed()
        let program = name.split(separator: "/").last.map(String.init) ?? name
        return !name.contains(" ") && ["mpv", "vlc", "cvlc", "ffplay", "mplayer"].contains(program)
            ? "\(name) -" : command
    }

    /// Combines `-o`, `-f` and `--player`. Without `-o`, `-f` applies to the player, which otherwise gets ts.
    package static func outputs(
        _ names: [String], formats: [OutputFormat], player: String
    ) throws(ArgumentValueError) -> [OutputArgument] {
        guard player.contains(where: { !$0.isWhitespace }) else {
            throw ArgumentValueError("--player needs a command")
        }
        let player = readingStandardInput(player)
        guard names.isEmpty else {
            return try outputs(names, formats: formats) + [OutputArgument(destination: .program(player), format: .ts)]
        }
        guard formats.count <= 1 else { throw ArgumentValueError("--player takes one -f") }
        let format = formats.first ?? .ts
        if format == .null { throw ArgumentValueError("-f null writes nothing; remove --player") }
        return [OutputArgument(destination: .program(player), format: format)]
    }
}
