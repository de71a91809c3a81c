import Foundation
import HLSKitCore

/// Many players of one stream in one process, which load and do not decode: what they cost, and whether they keep up.
///
///     swift run -c release PlayersBenchmarks URL [PLAYERS [SECONDS]]
///
/// `URL` is a live stream of a server near by. Memory is the private dirty memory of the process less the bytes of media
/// that the players hold; the first line is of one player, the last of all of them.
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
            // As a service starts them, and not at one moment.
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
    /// Seconds of processor time of this process so far.
    fileprivate var processorTime: Double {
        // utime and stime, in hundredths of a second, behind the name in parentheses.
        let text = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / 100
    }
}
