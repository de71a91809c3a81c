import ArgumentParser
import HLSGetKit
import HLSKitCore

/// The options of all commands that play: `hlsget play` and `hlsget watch`.
struct PlayOptionGroups: ParsableArguments {
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Picture") var video: VideoOptions
    @OptionGroup(title: "Playback") var playback: PlaybackOptions
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Network") var connection: ConnectionOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Keys") var keys: KeyOptions
    @OptionGroup(title: "Report") var report: ReportOptions

    func options(for url: String, then others: some Sequence<String> = []) throws -> PlayOptions {
        guard let directory = InputLocation.workingDirectory() else {
            throw ArgumentValueError("the working directory does not exist")
        }
        let isPiped = url == InputLocation.standardInput
        var options = PlayOptions(
            url: isPiped
                ? try StandardInput.url(baseURL: network.source.baseURL, in: directory)
                : try InputLocation.url(of: url, in: directory))
        options.readsStandardInput = isPiped
        options.followingURLs = try others.map { other in
            guard other != InputLocation.standardInput else { throw ArgumentValueError("only the first URL can be -") }
            let parts = FieldsInURL(try InputLocation.url(of: other, in: directory))
            guard parts.fields.isEmpty else { throw ArgumentValueError("URL|FIELDS takes one stream; use -H") }
            return parts.url
        }
        try network.source.check([url])
        try output.apply(to: &options)
        video.apply(to: &options)
        try playback.apply(to: &options)
        selection.apply(to: &options)
        connection.apply(to: &options)
        network.apply(to: &options)
        options.keyOverride = keys.override
        try report.apply(to: &options)
        try options.check()
        // A recording does not contain the outputs, but they decide on the variant.
        if options.recordingPath != nil, options.hasOneVariant, !options.keepsVariant {
            options.recordedOptions.append("--one-quality")
        }
        if options.recordingPath != nil, options.pace == nil, !options.isPaced {
            options.recordedOptions.append("--fast")
        }
        // A recording does not contain the environment either.
        if options.recordingPath != nil, options.languages == nil {
            let languages = PlayerConfiguration().languages
            if !languages.isEmpty { options.recordedOptions += ["--languages", languages.joined(separator: ",")] }
        }
        return options
    }
}
