import Foundation
import TestSupport

/// What ffprobe says of a file. That it says nothing else, a warning say, is part of it.
struct ProbedFile {
    static var isAvailable: Bool { Tool.exists("/usr/bin/ffprobe") && Tool.exists("/usr/bin/ffmpeg") }

    struct Stream {
        var type: String
        var language: String?
        /// When its first packet is presented, in seconds.
        var start: Double
    }

    var streams: [Stream] = []

    /// - Parameter hasChapters: Whether to ignore warnings, because ffprobe warns of the track with the chapters' titles.
    init(_ name: String, in folder: ScratchFolder, hasChapters: Bool = false) throws {
        let level = hasChapters ? "error" : "warning"
        let entries = "stream=codec_type,start_time:stream_tags=language"
        let output = try Self.speak("ffprobe -v \(level) -show_entries \(entries) -of json", name, folder)
        // Streams are listed again below the program of a transport stream.
        guard let document = try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any],
            let streams = document["streams"] as? [[String: Any]]
        else { throw Tool.Failure(description: String(decoding: output, as: UTF8.self)) }
        self.streams = streams.map { stream in
            Stream(
                type: stream["codec_type"] as? String ?? "",
                language: (stream["tags"] as? [String: Any])?["language"] as? String,
                start: (stream["start_time"] as? String).flatMap(Double.init) ?? .nan)
        }
    }

    /// The first digits of the hashes of the frames that ffmpeg decodes of a file.
    ///
    /// - Parameter isWhole: It says nothing besides; of a file that is cut off it may.
    static func frames(_ name: String, isWhole: Bool = true, in folder: ScratchFolder) throws -> [String] {
        let command = "ffmpeg -v \(isWhole ? "warning" : "quiet") -nostdin -i"
        let output = try speak(command, name, folder, "-map 0:v -fps_mode passthrough -f framemd5 -")
        return String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }

    /// Runs a command; what it says on the way is put into its output, where it does not belong.
    private static func speak(
        _ command: String, _ name: String, _ folder: ScratchFolder, _ rest: String = ""
    ) throws -> [UInt8] {
        try Tool.run(["/bin/sh", "-c", "\(command) \(name) \(rest) 2>&1"], in: folder.path)
    }
}
