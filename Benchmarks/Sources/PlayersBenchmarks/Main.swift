import Foundation
import HLSKitCore

/// Measures the cost of many players of one stream in one process, and whether they keep up.
///
///     swift run -c release PlayersBenchmarks URL [PLAYERS [SECONDS]]
///
/// The players load media and do not decode it. `URL` is a live stream on a nearby server. Memory is the private dirty
/// memory of the process minus the bytes of media that the players hold. The first line is for one player, the last
/// line for all players.
@main
struct Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let url = arguments.first else {
            print("usage: PlayersBenchmarks URL [PLAYERS [SECONDS]]")
            return
        }
        let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 200
        let seconds = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 60
        var watched = [try WatchedPlayer(url)]
        try await Task.sleep(for: .seconds(15))
        let one = Usage(of: watched)
        print("1 player: \(one.text)")
        for _ in 1..<count {
            watched.append(try WatchedPlayer(url))
            // The players start one after another, as in a service.
            try await Task.sleep(for: .milliseconds(10))
        }
        let began = Usage(of: watched)
        for second in 1...seconds {
            try await Task.sleep(for: .seconds(1))
            if second % 15 == 0 { print("after \(second) s: \(Usage(of: watched).text)") }
        }
        let all = Usage(of: watched)
        let further = Double(all.ownByteCount - one.ownByteCount) / Double(max(1, count - 1)) / 1e6
        print("\(count) players: \(all.text)")
        print(String(format: "each further player: %.2f MB beyond what it buffers", further))
        let share = (all.processorTime - began.processorTime) / Double(seconds)
        print(String(format: "processor: %.2f of one core", share))
        var total = Findings()
        for player in watched { total.add(await player.close()) }
        print(total.text)
        print(total.lateness)
    }
}

struct Usage {
    var privateByteCount = 0
    var bufferedByteCount = 0
    var processorTime = 0.0

    init(of players: [WatchedPlayer]) {
        let text = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") where line.hasPrefix("Private_Dirty:") {
            privateByteCount = (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
        }
        for player in players { bufferedByteCount += player.bufferedByteCount }
        processorTime = ProcessInfo.processInfo.processorTime
    }

    var ownByteCount: Int { privateByteCount - bufferedByteCount }
    var text: String {
        String(
            format: "private dirty %.1f MB, of it media %.1f MB", Double(privateByteCount) / 1e6,
            Double(bufferedByteCount) / 1e6)
    }
}

extension ProcessInfo {
    /// The processor time of this process so far, in seconds.
    fileprivate var processorTime: Double {
        // utime and stime are in hundredths of a second and follow the name in parentheses.
        let text = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / 100
    }
}
