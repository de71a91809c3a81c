import Glibc
import HLSGetKit
import HLSKitCore

struct ThumbnailsRun {
    private let command: ThumbnailsCommand

    init(_ command: ThumbnailsCommand) { self.command = command }

    private struct Made {
        var time: MediaTime
        var actual: MediaTime?
        var image: StillImage?
        var file: String?
        var error: HLSError?
    }

    func run() async -> ExitStatus {
        do {
            return try await make()
        } catch let interrupted as Interruption.Interrupted {
            return .interrupted(signal: interrupted.signal)
        } catch let error as ArgumentValueError {
            StandardStream.error.writeLine(ErrorLine.line(error.description, url: nil, detail: nil))
            return .usage
        } catch {
            StandardStream.error.writeLine(ErrorLine.text(for: error))
            return ExitStatus(error)
        }
    }

    private func make() async throws -> ExitStatus {
        let directory = InputLocation.workingDirectory() ?? "/"
        let input =
            command.input == InputLocation.standardInput ? try StandardInput.read(baseURL: nil, in: directory) : nil
        let url = try input?.url ?? InputLocation.url(of: command.input, in: directory)
        let names = try command.names()
        // Report an unwritable output before the first request.
        for path in [command.sheet, command.storyboard].compactMap(\.self) { try check(path) }
        let count = command.times?.count ?? command.count ?? 20
        try check(names, count: command.every == nil ? count : 1)

        var options = try command.connection.assetOptions(of: url, allowsFilesOutside: command.allowFile) {
            command.saying.wrap(input?.transport(over: $0) ?? $0)
        }
        options.hooks.keyOverride = command.keys.override
        options.diskCache = try command.cache.map { try DiskCache(folder: $0) }
        let generator = ImageGenerator(asset: Asset(urlString: url, options: options))
        let isAlone = names?.isSingle == true && command.sheet == nil
        generator.maximumSize = command.size ?? (isAlone ? .zero : PixelSize(width: 320, height: 0))
        generator.appliesPreferredTrackTransform = true
        generator.dynamicRangePolicy = command.keepHdr ? .matchSource : .forceSDR
        if command.exact {
            generator.requestedTimeToleranceBefore = .zero
            generator.requestedTimeToleranceAfter = .zero
        }
        let interruption = Interruption()
        let duration = try await interruption.cancelling { try await generator.loadTimeRange().duration }
        interruption.onSignal { _ in generator.cancelAllImageGeneration() }
        let plan = try plan(duration: duration, url: url)
        try check(names, count: plan.times.count)
        try names?.folder.map(makeFolder)
        let made = try await collect(plan, from: generator, names, end: duration.duration)
        try finish(made, plan)
        if let signal = interruption.signal { return .interrupted(signal: signal) }
        return report(made, url: url)
    }

    // MARK: Times

    private func plan(duration: MediaTime, url: String) throws -> StoryboardPlan {
        func time(_ duration: Duration) -> MediaTime { MediaTime(duration, timescale: 1_000_000_000) }
        if let times = command.times { return StoryboardPlan(times: times.map(time), duration: duration) }
        guard duration > .zero, duration.isNumeric else {
            throw HLSError(
                code: .notAvailable, urlString: url, cause: "the duration is unknown; give the times with --times")
        }
        guard let step = command.every else { return StoryboardPlan(count: command.count ?? 20, duration: duration) }
        guard let plan = StoryboardPlan(every: time(step), duration: duration) else {
            throw ArgumentValueError("--every makes more than \(StoryboardPlan.maximumCount) images")
        }
        return plan
    }

    // MARK: Files

    private func check(_ path: String) throws(HLSError) {
        guard path != "-" else { return }
        if access(path, F_OK) == 0 {
            guard !command.overwrite else { return }
            throw HLSError(code: .fileExists, path: path, text: "the file exists")
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK) != 0 else { return }
        throw HLSError(code: .notWritable, path: path, text: String(cString: strerror(errno)))
    }

    private func check(_ names: ThumbnailNames?, count: Int) throws {
        guard let names else { return }
        if names.isSingle, count > 1 {
            throw ArgumentValueError("-o: \(count) images need a number pattern in their name, as in %03d")
        }
        // A folder to be created contains no files yet.
        if let folder = names.folder, access(folder, F_OK) != 0 { return try check(String(folder.dropLast())) }
        for number in 1...max(1, count) { try check(names.name(number)) }
    }

    private func makeFolder(_ path: String) throws(HLSError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        guard mkdir(path, 0o777) != 0 else { return }
        throw HLSError(code: .notWritable, path: path, text: String(cString: strerror(errno)))
    }

    private func write(_ bytes: [UInt8], to path: String) throws(HLSError) {
        guard path != ThumbnailNames.standardOutput else {
            do {
                return try FileBytes.write(bytes, to: StandardStream.output.descriptor)
            } catch {
                throw HLSError(code: .output, path: path, text: FileBytes.text(of: error))
            }
        }
        let file = try OutputFile(path: path, overwrite: command.overwrite)
        try file.write(bytes)
        try file.commit()
    }

    private func encoded(_ image: StillImage, _ format: ThumbnailFormat, for path: String) throws(HLSError) -> [UInt8] {
        do {
            return try image.encoded(as: format.imageFormat(quality: command.quality))
        } catch {
            throw HLSError(code: .conversionFailed, path: path, text: error.description)
        }
    }

    // MARK: Images

    private func collect(
        _ plan: StoryboardPlan, from generator: ImageGenerator, _ names: ThumbnailNames?, end: Duration?
    ) async throws -> [Made] {
        var made: [Made] = []
        for await result in generator.images(for: plan.times) {
            var one = Made(time: result.requestedTime)
            switch result {
            case .succeeded(let requested, let actual, _) where Self.isPastEnd(requested, actual, end: end):
                // A user who requests 10:00 of a 3:00 stream does not want its last frame.
                let length = end.map { ", which ends at \(Decimals.length($0.inSeconds))" } ?? ""
                one.error = HLSError(code: .notAvailable, cause: "the time is outside the available media" + length)
            case .succeeded(_, let actual, let image):
                one.actual = actual
                if command.sheet != nil { one.image = image }
                if let names {
                    let name = names.name(made.count + 1)
                    try write(try encoded(image, names.format, for: name), to: name)
                    one.file = name
                }
            case .failed(_, let error): one.error = error
            case .cancelled: one.error = HLSError(code: .notAvailable, cause: "interrupted")
            }
            made.append(one)
        }
        return made
    }

    /// Whether a time is after the end of the media, so that the frame is only the nearest one.
    private static func isPastEnd(_ time: MediaTime, _ actual: MediaTime, end: Duration?) -> Bool {
        guard let end, let time = time.duration, let actual = actual.duration else { return false }
        return time >= end && actual < time
    }

    private func finish(_ made: [Made], _ plan: StoryboardPlan) throws {
        guard let path = command.sheet, made.contains(where: { $0.image != nil }) else { return }
        let sheet: ContactSheet
        do throws(HLSError) {
            sheet = try ContactSheet(of: made.map(\.image), columnCount: command.columns)
        } catch {
            throw HLSError(code: .unsupported, path: path, text: "\(error); choose a smaller --size")
        }
        try write(try encoded(sheet.image, try ThumbnailFormat(path: path), for: path), to: path)
        guard let storyboard = command.storyboard else { return }
        // The storyboard refers to the sheet relative to its own folder.
        let folder = storyboard.lastIndex(of: "/").map { String(storyboard[...$0]) } ?? ""
        let name = path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
        let text = sheet.webVTT(timeRanges: plan.timeRanges, imageURI: Self.reference(toFile: name))
        try write(Array(text.utf8), to: storyboard)
    }

    /// Escapes characters of a path that have a meaning in URIs. The library escapes the rest.
    private static func reference(toFile path: String) -> String {
        let escaped = path.map { character in
            switch character {
            case "%": "%25"
            case "?": "%3F"
            case "#": "%23"
            default: String(character)
            }
        }.joined()
        // A colon in the first path segment would be taken for the end of a scheme.
        return escaped.prefix { $0 != "/" }.contains(":") ? "./" + escaped : escaped
    }

    // MARK: Report

    private func report(_ made: [Made], url: String) -> ExitStatus {
        let failures = made.filter { $0.error != nil }
        // Report identical failures once.
        var reported: Set<HLSError> = []
        for failure in failures {
            guard var error = failure.error, reported.insert(error).inserted else { continue }
            var same = failures.count { $0.error == error }
            if same < made.count, failures.count == made.count, made.allSatisfy({ $0.error?.cause == error.cause }) {
                // All images fail for the same reason.
                reported.formUnion(made.compactMap(\.error))
                same = made.count
                error.urlString = url
                error.detail = nil
            }
            let what =
                same > 1 ? " (\(same) images)" : " (\(Decimals.text(failure.time.seconds, places: 3)) s)"
            StandardStream.error.writeLine(ErrorLine.text(for: error) + what)
        }
        if command.json {
            StandardStream.output.writeLine(document(made, url: url))
        } else if !command.saying.quiet, failures.count < made.count {
            var places: [String] = []
            let files = made.compactMap(\.file)
            if let first = files.first, let last = files.last {
                places.append(
                    TerminalText.escaped(first) + (files.count > 1 ? " to \(TerminalText.escaped(last))" : ""))
            }
            if let sheet = command.sheet { places.append(TerminalText.escaped(sheet)) }
            if let storyboard = command.storyboard { places.append(TerminalText.escaped(storyboard)) }
            StandardStream.error.writeLine(
                "hlsget: \(Decimals.count(made.count - failures.count, "image")): \(places.joined(separator: ", "))")
        }
        guard let first = failures.first?.error else { return .done }
        return failures.count == made.count ? ExitStatus(first) : .incomplete
    }

    private func document(_ made: [Made], url: String) -> String {
        let images = made.map { one -> JSONValue in
            [
                "requested": .number(one.time.seconds), "actual": JSONValue(one.actual?.seconds),
                "file": JSONValue(one.file), "error": JSONValue(one.error?.description),
            ]
        }
        return JSONValue.object([
            "v": 1, "url": .string(ErrorLine.bare(url: url)), "images": .array(images),
            "sheet": JSONValue(command.sheet), "storyboard": JSONValue(command.storyboard),
        ]).text
    }
}
