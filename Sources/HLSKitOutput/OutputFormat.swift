public import HLSKitCodec
public import HLSKitLoading
import HLSKitMedia

/// The formats of output files, as named by `-f`.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    case ts, mp4, mkv, aac, mp3, y4m, rawvideo, wav, s16le, f32le, framemd5, null

    /// Creates the format for the ending of a file name, or returns `nil` if the ending is unknown.
    public init?(path: String) {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        let ending = path[path.index(after: dot)...].lowercased()
        switch ending {
        case "m2ts", "mts": self = .ts
        case "m4v", "m4a": self = .mp4
        case "mka": self = .mkv
        case "adts": self = .aac
        case "yuv", "rgb": self = .rawvideo
        case "pcm": self = .s16le
        case "md5": self = .framemd5
        case "null": return nil
        default: self.init(rawValue: ending)
        }
    }

    package static func leftoverNote(_ path: String) -> String {
        "the unfinished file of an earlier run is kept: \(path)"
    }

    package static func isAudioOnly(path: String) -> Bool {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return false }
        return ["m4a", "mka", "aac", "adts", "mp3"].contains(path[path.index(after: dot)...].lowercased())
    }

    /// Opens `path` and creates the writer for it.
    ///
    /// The format `null` opens nothing.
    ///
    /// - Parameters:
    ///   - path: The file, pipe or device, or `-` for standard output. The endings `.m4a` and `.mka` omit video. The
    ///     formats `aac` and `mp3` contain only audio of that kind.
    ///   - overwrite: Whether an existing file may be replaced. The default is `false`.
    ///   - frameRate: The nominal frame rate, for formats without timestamps.
    ///   - note: Receives a text for each change to the media that was needed to fit the format. Also receives the new
    ///     name (`FILE.1.part`) of a part file that an earlier run has left.
    public func makeWriter(
        path: String, overwrite: Bool = false, frameRate: VideoFrame.Ratio? = nil, note: @escaping WriterNote = { _ in }
    ) throws(HLSError) -> any MediaWriter {
        func file() throws(HLSError) -> sending OutputFile {
            let file = try OutputFile(path: path, overwrite: overwrite)
            if let kept = file.keptPath { note(Self.leftoverNote(kept)) }
            return file
        }
        func remuxer(_ container: Remuxer.Container) throws(HLSError) -> Remuxer {
            let isAudioOnly = container.holdsAudioOnly || Self.isAudioOnly(path: path)
            let types: Set<MediaKind> = isAudioOnly ? [.audio] : [.video, .audio]
            return Remuxer(file: try file(), container: container, mediaTypes: types, note: note)
        }
        return switch self {
        case .ts: try remuxer(.ts)
        case .mp4: try remuxer(.mp4)
        case .mkv: try remuxer(.mkv)
        case .aac: try remuxer(.adts)
        case .mp3: try remuxer(.mp3)
        case .y4m: Y4MWriter(file: try file(), frameRate: frameRate, note: note)
        case .rawvideo: RawVideoWriter(file: try file(), note: note)
        case .wav: PCMWriter(file: try file(), format: .wav, note: note)
        case .s16le: PCMWriter(file: try file(), format: .s16le, note: note)
        case .f32le: PCMWriter(file: try file(), format: .f32le, note: note)
        case .framemd5: try FrameHashWriter(file: try file())
        case .null: DiscardingWriter()
        }
    }
}
