import HLSGetKit
import HLSKitCore
import HLSKitPlaylist

struct ChannelChoice {
    private let asked: PlayOptions

    init(_ options: PlayOptions) { asked = options }

    /// Whether to load the list before playing, because a channel is requested or the URL looks like a list.
    var isNeeded: Bool {
        let path = asked.url.prefix { $0 != "?" && $0 != "#" }
        return asked.channel != nil || path.lowercased().hasSuffix(".m3u")
    }

    /// The options for the channel, or the unchanged options if the URL names a stream.
    ///
    /// - Throws: ``ChannelList/NoChoice``, or errors of loading.
    func options() async throws -> PlayOptions {
        let list: ChannelList?
        do { list = try await ChannelList.load(asked) } catch  where asked.channel == nil {
            // Let the player try again and report why the stream cannot be played.
            return asked
        }
        guard let list else {
            if asked.channel == nil { return asked }
            throw ChannelList.NoChoice(description: "--channel: no list of channels")
        }
        guard let preference = asked.channel else { throw ChannelList.NoChoice(description: Self.hint(list)) }
        return try options(for: list.channel(preference))
    }

    private func options(for channel: ChannelList.Channel) throws -> PlayOptions {
        let parts = FieldsInURL(channel.url)
        var options = asked
        options.url = URIReference.resolve(parts.url, against: asked.url) ?? parts.url
        options.fields = asked.fields.filled(from: parts.fields)
        return options
    }

    func report(_ error: any Error) -> ExitStatus {
        switch error {
        case let error as ChannelList.NoChoice:
            StandardStream.error.writeLine(ErrorLine.line(error.description, url: asked.url, detail: nil))
            return .usage
        case let error as ArgumentValueError:
            StandardStream.error.writeLine(ErrorLine.line(error.description, url: nil, detail: nil))
            return .usage
        default:
            let failure = PlaylistInput.Failure(error)
            StandardStream.error.writeLine(failure.text(for: asked.url))
            return failure.status
        }
    }

    /// Explains that a URL which is not an HLS playlist is a channel list, if it is one.
    func explain() async {
        guard !isNeeded, !asked.readsStandardInput, asked.progress != .json, asked.verbosity != .quiet,
            let list = try? await ChannelList.load(asked)
        else { return }
        StandardStream.error.writeLine("hlsget: \(Self.hint(list))")
    }

    static func hint(_ list: ChannelList) -> String {
        "a list of \(Decimals.count(list.channels.count, "channel")): choose one with --channel NUMBER|NAME; hlsget list names them"
    }
}
