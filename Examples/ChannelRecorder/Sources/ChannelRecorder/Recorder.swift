import Foundation
import HLSKitCore
import HLSKitObservability
import Logging

/// Makes a channel's player. Each of its sessions writes files and finishes them when it ends.
struct Recorder: Sendable {
    var options: RecorderOptions
    var configuration = PlayerConfiguration()
    var logger: Logger?
    var now: @Sendable () -> Date = { Date() }

    func member(for channel: RecorderOptions.Channel) -> PlayerGroupMember {
        PlayerGroupMember(name: channel.name, configuration: configuration, endPolicy: .restart()) { _ in
            let files = BegunFiles()
            let writer = try makeWriter(for: channel, files)
            let item = PlayerItem(urlString: channel.url)
            // Use the best quality that the network can carry.
            item.variantPolicy = .best()
            item.add(writer)
            return PlayerGroupMember.Session(item: item) { _ in
                defer { files.removeEmpty() }
                try writer.finish()
            }
        }
    }

    private func makeWriter(for channel: RecorderOptions.Channel, _ files: BegunFiles) throws -> any MediaWriter {
        let (logger, now) = (logger, now)
        let names = FileNames(folder: options.folder, channel: channel.name)
        // A transport stream remains playable even if the machine fails while it is being written.
        return try OutputFormat.ts.makeSplitWriter(
            every: options.length, firstLength: FileNames.rest(of: options.length, at: now()),
            note: { logger?.info("a note of the writer", metadata: ["channel": "\(channel.name)", "note": "\($0)"]) }
        ) { _ throws(HLSError) in
            let path = names.path(at: now())
            let folder = (path as NSString).deletingLastPathComponent
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw HLSError(code: .notWritable, path: folder, text: "\(error.localizedDescription)")
            }
            files.note(path)
            logger?.info("a file begins", metadata: ["channel": "\(channel.name)", "path": "\(path)"])
            return path
        }
    }
}
