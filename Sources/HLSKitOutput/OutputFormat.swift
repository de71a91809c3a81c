public import HLSKitCodec
public import HLSKitLoading
import HLSKitMedia

/// Formats of output files: the names of `-f`.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    case ts, mp4, mkv, aac, mp3, y4m, rawvideo, wav, s16le, f32le, framemd5, null

    /// The format that the ending of a file name stands for; nil if it stands for none.
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

    /// What is said where a run before has left something.
    package static func leftoverNote(_ path: String) -> String {
        "the unfinished file of an earlier run is kept: \(path)"
    }

    /// Whether the ending of a file name says that there is audio in it and nothing else.
    package static func isAudioOnly(path: String) -> Bool {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return false }
        return ["m4a", "mka", "aac", "adts", "mp3"].contains(path[path.index(after: dot)...].lowercased())
    }

    /// Opens `path` and makes the writer for it. `null` opens nothing.
    ///
    /// - Parameters:
    ///   - path: a file, pipe or device; `-` is standard output. Of containers, `.m4a` and `.mka` get no video;
    ///     `aac` and `mp3` hold that audio alone.
    ///   - overwrite: whether an existing file may be replaced.
    ///   - frameRate: the nominal frame rate, for formats that know one and no times.
    ///   - note: receives what was converted so that the media fits the format, and the name of the file in which that is kept
    ///     which a run before has left: `FILE.1.part`.
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
