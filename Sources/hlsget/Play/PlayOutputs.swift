import Glibc
import HLSGetKit
import HLSKitCore

/// The files, pipes and devices that one run of `hlsget play` writes.
struct PlayOutputs {
    struct Output {
        var writer: any MediaWriter
        /// The item's writer, or one that wraps it.
        var sink: any MediaWriter
        var path: String
        var media: (video: Bool, audio: Bool)
        var replacesFile: Bool
        /// Whether the output is neither a pipe nor a device.
        var isFile = true
    }

    private let options: PlayOptions
    private let program: PlayerProgram?
    private(set) var all: [Output] = []

    /// Opens the outputs of the options.
    ///
    /// - Parameters:
    ///   - metadata: The title, chapters and other metadata to write.
    ///   - program: The program that reads an output.
    ///   - note: Receives the notes of the writers.
    init(
        _ options: PlayOptions, metadata: FileMetadata, program: PlayerProgram?, note: @escaping WriterNote
    ) throws {
        self.options = options
        self.program = program
        for output in options.outputs where options.templates[output.destination.path] != nil {
            try NameTemplate.makeFolders(of: output.destination.path)
        }
        all = try options.outputs.map { try open($0, metadata, note) }
    }

    private func open(_ output: OutputArgument, _ metadata: FileMetadata, _ note: @escaping WriterNote) throws -> Output
    {
        var path = output.destination.path
        if let split = options.split {
            let writer = try splitWriter(split, output, metadata, note)
            return Output(writer: writer, sink: writer, path: path, media: output.media, replacesFile: false)
        }
        if let program, case .program = output.destination { path = program.path }
        var writer = try output.format.makeWriter(path: path, overwrite: options.overwritesFiles, note: note)
        // Container formats preserve the time of missing media themselves.
        if options.gapAction == .fill, output.format.needsDecoder { writer = FillingWriter(writer) }
        // A file that starts in the middle of a live stream begins at 0 too.
        let sink =
            options.from == nil
            ? ClipWriter(writer, unlessBefore: MediaTime(value: 1, timescale: 1), metadata: metadata)
            : clip(writer, metadata, note)
        var status = stat()
        let isThere = path != "-" && stat(path, &status) == 0
        let isRegular = isThere && status.st_mode & S_IFMT == S_IFREG
        return Output(
            writer: writer, sink: sink, path: path, media: output.media, replacesFile: isRegular,
            isFile: path != "-" && isRegular == isThere)
    }

    /// A writer for media from `--from` on.
    private func clip(
        _ writer: any MediaWriter, _ metadata: FileMetadata, _ note: @escaping WriterNote
    ) -> ClipWriter {
        ClipWriter(writer, startingAt: options.startTime, metadata: metadata, note: note)
    }

    /// The writer for `--split`, which starts each file at 0.
    private func splitWriter(
        _ split: SplitArgument, _ output: OutputArgument, _ metadata: FileMetadata, _ note: @escaping WriterNote
    ) throws -> SplitWriter {
        let path = output.destination.path
        let names = PartNames(
            path: path, template: options.templates[path], url: options.url, ending: output.format.rawValue)
        let metadata = metadata.withoutChapters
        let overwrite = options.overwritesFiles
        return try SplitWriter(split.limit) { number throws(HLSError) in
            let name = try names.path(number)
            let writer = try output.format.makeWriter(path: name, overwrite: overwrite, note: note)
            guard let remuxer = writer as? Remuxer else {
                throw HLSError(code: .unsupported, path: name, text: "\(output.format.rawValue) cannot be split")
            }
            // Only the last file would know which chapters are its own.
            let clip =
                number == 1 && options.from != nil
                ? clip(remuxer, metadata, note) : ClipWriter(remuxer, metadata: metadata)
            return SplitWriter.Part(remuxer, clip: clip)
        }
    }

    /// The file that each output is writing.
    var currentPaths: [String] { all.map { ($0.writer as? any NumberedFiles)?.paths.last ?? $0.path } }

    /// Finishes all outputs, even if one fails, and adds their files to the summary.
    ///
    /// - Returns: The first failure.
    func finish(_ summary: inout PlaySummary) -> HLSError? {
        var first: HLSError?
        for output in all {
            do {
                try output.sink.finish()
                // A program's pipe is not a file.
                if output.path == program?.path { continue }
                var paths = output.writer.isEmpty ? [] : [output.path]
                if let files = output.writer as? any NumberedFiles { paths = files.finishedPaths }
                summary.files += paths.map { PlaySummary.File(path: $0, isComplete: true) }
                if paths.isEmpty { summary.files.append(PlaySummary.File(path: output.path, isComplete: false)) }
            } catch {
                if program?.hasLeft(by: error) == true || Self.isReaderGone(error) { continue }
                let files = output.writer as? any NumberedFiles
                summary.files += (files?.finishedPaths ?? []).map { PlaySummary.File(path: $0, isComplete: true) }
                summary.files.append(PlaySummary.File(unfinished: files?.paths.last ?? output.path))
                first =
                    first ?? HLSError(code: .output, urlString: error.path, cause: "cannot write", detail: error.text)
            }
        }
        return first
    }
    /// Renames files by their content.
    ///
    /// - Returns: The first failure.
    func name(_ files: inout [PlaySummary.File], by facts: NameFacts) -> HLSError? {
        var first: HLSError?
        var own = Set(files.map(\.path))
        for index in files.indices where files[index].isComplete && files[index].path != "-" {
            let path = files[index].path
            do throws(HLSError) {
                // Replacing a file of this run does not require --overwrite.
                let isOther = !own.contains(facts.path(path))
                files[index].path = try facts.rename(path, overwrite: options.overwritesFiles && isOther)
                own.insert(files[index].path)
            } catch {
                first = first ?? error
            }
        }
        return first
    }

    /// Whether standard output was closed by its reader, as with `| head`, which is not an error.
    static func isReaderGone(_ error: HLSError) -> Bool {
        let writing = error.underlyingError as? HLSError ?? error
        return writing.code == .brokenPipe && writing.path == "-"
    }
}

extension NameFacts {
    /// Creates the facts of the played media.
    init(of item: PlayerItem, _ state: PlayerState) {
        self.init()
        let track = item.tracks.first { $0.mediaType == .video }?.formatDescription
        let coded = track.flatMap {
            $0.width > 0 && $0.height > 0 ? PixelSize(width: $0.width, height: $0.height) : nil
        }
        size = state.variant?.videoAttributes?.presentationSize ?? coded
        bandwidth = state.variant?.peakBitRate.flatMap { Int(exactly: $0.rounded()) }
    }
}
