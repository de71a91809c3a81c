import Foundation
import TestSupport

/// ffprobe's description of a file. Any warning in ffprobe's output is an error.
struct ProbedFile {
    static var isAvailable: Bool { Tool.exists("/usr/bin/ffprobe") && Tool.exists("/usr/bin/ffmpeg") }

    struct Stream {
        var type: String
        var language: String?
        /// The presentation time of the first packet, in seconds.
        var start: Double
    }

    var streams: [Stream] = []

    init(_ name: String, in folder: ScratchFolder) throws {
        let output = try Self.speak(
            "ffprobe -v warning -show_entries stream=codec_type,start_time:stream_tags=language -of json", name, folder)
        // ffprobe lists the streams of a transport stream again below its program.
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

    /// Returns the first digits of the hashes of a file's frames, as ffmpeg decodes them.
    ///
    /// - Parameter isWhole: Whether ffmpeg must not print warnings. It may for a truncated file.
    static func frames(_ name: String, isWhole: Bool = true, in folder: ScratchFolder) throws -> [String] {
        let command = "ffmpeg -v \(isWhole ? "warning" : "quiet") -nostdin -i"
        let output = try speak(command, name, folder, "-map 0:v -fps_mode passthrough -f framemd5 -")
        return String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: " ").last?.prefix(8) ?? "") }
    }

    /// Runs a command and merges its messages into the output, where they cause a failure.
    private static func speak(
        _ command: String, _ name: String, _ folder: ScratchFolder, _ rest: String = ""
    ) throws -> [UInt8] {
        try Tool.run(["/bin/sh", "-c", "\(command) \(name) \(rest) 2>&1"], in: folder.path)
    }
}
