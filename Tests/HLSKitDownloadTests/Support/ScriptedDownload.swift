import HLSKitAsset
import HLSKitDownload
import HLSKitLoading
import HLSKitSimulation
import TestSupport

struct ScriptedDownload {
    static let media = ScriptedTransport.Answer.bytes((0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 })

    var result: DownloadTask.Result?
    var error: HLSError?
    var requests: [ScriptedTransport.Request] = []

    static func run(
        _ url: String, over transport: ScriptedTransport, _ clock: VirtualClock,
        change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> ScriptedDownload {
        let folder = try ScratchFolder()
        var configuration = DownloadConfiguration(
            urlString: url, loading: AssetOptions(clock: clock, transport: transport))
        change(&configuration)
        let made = configuration
        var outcome = try clock.run {
            let task = try await DownloadTask(made, folder: folder.path + "/d")
            do {
                return ScriptedDownload(result: try await task.run())
            } catch let error as HLSError {
                return ScriptedDownload(error: error)
            }
        }
        outcome.requests = transport.requests
        return outcome
    }

    func files(of host: String, endingIn ending: String) -> [String] {
        let root = "http://\(host)/"
        return requests.map(\.url).filter { $0.hasPrefix(root) && $0.hasSuffix(ending) }.map {
            String($0.dropFirst(root.count))
        }
    }
}
