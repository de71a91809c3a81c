import Foundation
import HLSKitCore

/// Describes a stream, loads all of it as fast as possible and reports its metrics, as lines of JSON.
@main struct Probe {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: Probe URL")
            exit(64)
        }
        do {
            try await probe(CommandLine.arguments[1]) { print($0) }
        } catch {
            print(error)
            exit(1)
        }
    }

    private struct VariantLine: Encodable {
        var event = "variant"
        var peakBitRate: Double?
        var width: Int?
        var height: Int?
        var codecs: [String]
        /// The reasons why this machine cannot play the variant. Empty if it can.
        var ineligible: [String]
    }

    nonisolated(nonsending) static func probe(_ url: String, report: (String) -> Void) async throws {
        let asset = Asset(urlString: url)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        for variant in try await asset.load(.variants) {
            let video = variant.videoAttributes
            let line = VariantLine(
                peakBitRate: variant.peakBitRate, width: video?.presentationSize?.width,
                height: video?.presentationSize?.height,
                codecs: (video?.codecs ?? []) + (variant.audioAttributes?.codecs ?? []),
                ineligible: variant.ineligibilityReasons.map { "\($0)" })
            report(String(decoding: try encoder.encode(line), as: UTF8.self))
        }

        var configuration = PlayerConfiguration()
        configuration.pacing = .unpaced
        configuration.demuxesMedia = false
        let item = PlayerItem(asset: asset)
        let metrics = item.allMetrics()
        let player = Player(configuration: configuration)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        for await event in events {
            if case .didPlayToEnd = event.kind { break }
            if case .failedToPlayToEnd(let error) = event.kind { throw error }
            if item.status == .failed { throw item.error ?? HLSError(code: .internal, cause: "failed") }
        }
        // The metrics end when the player drops the item.
        try player.replaceCurrentItem(with: nil)
        for await metric in metrics { report(metric.jsonLine) }
        for entry in item.accessLog?.events ?? [] { report(entry.jsonLine) }
        await player.close()
    }
}
