public import HLSKitEngine
public import HLSKitLoading
public import HLSKitSelection

/// How to play the item: limits of the choice among variants, choice of renditions, start, end and buffering.
///
/// Settings may be changed at any time from any thread. They are read at each decision: a change takes effect at the next
/// segment, unless it says otherwise. A ``copy()`` has the same.
extension PlayerItem {
    // MARK: Buffering

    /// How much media to keep loaded ahead of the playhead: between one target duration and a day. nil (the default), and
    /// what is not above zero, leaves it to the player (``BufferingConfiguration/forwardDuration``).
    public var preferredForwardBufferDuration: Duration? {
        get { preferences.preferredForwardBufferDuration }
        set { changePreferences { $0.preferredForwardBufferDuration = newValue } }
    }

    // MARK: Variants

    /// Bits per second above which variants are not considered while there are others. nil (the default), and what is not
    /// above zero, is no limit.
    public var preferredPeakBitRate: Double? {
        get { preferences.preferredPeakBitRate }
        set { changePreferences { $0.preferredPeakBitRate = newValue } }
    }

    /// As ``preferredPeakBitRate``, and besides it, while the network is expensive (``NetworkConditions/isExpensive``).
    public var preferredPeakBitRateForExpensiveNetworks: Double? {
        get { preferences.preferredPeakBitRateForExpensiveNetworks }
        set { changePreferences { $0.preferredPeakBitRateForExpensiveNetworks = newValue } }
    }

    /// Size in pixels above which variants are not considered while there are others; nil (the default) is no limit.
    public var preferredMaximumResolution: PixelSize? {
        get { preferences.preferredMaximumResolution }
        set { changePreferences { $0.preferredMaximumResolution = newValue } }
    }

    /// As ``preferredMaximumResolution``, and besides it, while the network is expensive
    /// (``NetworkConditions/isExpensive``).
    public var preferredMaximumResolutionForExpensiveNetworks: PixelSize? {
        get { preferences.preferredMaximumResolutionForExpensiveNetworks }
        set { changePreferences { $0.preferredMaximumResolutionForExpensiveNetworks = newValue } }
    }

    /// Size at which the video is shown, in pixels (points × scale): larger variants than it needs are left out. nil (the
    /// default) is no limit. The largest ``VideoOutput`` of the item counts instead, if one has a size.
    public var displaySize: PixelSize? {
        get { preferences.displaySize }
        set { changePreferences { $0.displaySize = newValue } }
    }

    /// Starts on the first eligible variant of the playlist, whatever is known of the network. Default false.
    public var startsOnFirstEligibleVariant: Bool {
        get { preferences.startsOnFirstEligibleVariant }
        set { changePreferences { $0.startsOnFirstEligibleVariant = newValue } }
    }

    /// Kinds of variants that are played only where they are asked for. Default: none.
    public var variantPreferences: VariantPreferences {
        get { preferences.variantPreferences }
        set { changePreferences { $0.variantPreferences = newValue } }
    }

    /// How the variant is chosen. Default: by the rule of the player.
    public var variantPolicy: VariantPolicy {
        get { preferences.variantPolicy }
        set { changePreferences { $0.variantPolicy = newValue } }
    }

    /// Which variants may be played at all; nil (the default) leaves all.
    public var quality: QualityExpression? {
        get { preferences.quality }
        set {
            // The program is asked here, and not where the player decides.
            newValue?.judge(attachedCore?.read(of: self) { $0.item?.candidates } ?? [])
            changePreferences { $0.quality = newValue }
        }
    }

    // MARK: Renditions

    /// Which audio rendition is played, where none is selected (``select(_:in:)``); nil (the default) chooses by
    /// `DEFAULT` and `AUTOSELECT`. The expression is one of renditions: `QualityExpression(parsing: "lang=en", for: .renditions)`.
    ///
    /// Where no rendition matches, the item fails with ``HLSError/Code/noEligibleVariant``, whose
    /// ``HLSError/underlyingError`` is ``HLSError/Code/noMatchingRendition``. For a wish that may stay unfulfilled there is
    /// ``Player/setMediaSelectionCriteria(_:for:)``.
    public var audio: QualityExpression? {
        get { preferences.audio }
        set { changePreferences { $0.audio = newValue } }
    }

    /// Which subtitle rendition is loaded, where none is selected (``select(_:in:)``); nil (the default) loads none.
    /// Where no rendition matches, the item fails, as for ``audio``.
    public var subtitles: QualityExpression? {
        get { preferences.subtitles }
        set { changePreferences { $0.subtitles = newValue } }
    }

    // MARK: Start and end

    /// The position where playback starts. Default: the playlist's, else the beginning; near the edge of a live stream.
    /// Read when the item is loaded.
    public var startPosition: StartPosition {
        get { preferences.startPosition }
        set { changePreferences { $0.startPosition = newValue } }
    }

    /// The position where playback ends. Default: the end of the media. Read when the first playlist is there;
    /// ``forwardPlaybackEndTime`` may change later.
    public var endPosition: EndPosition {
        get { preferences.endPosition }
        set { changePreferences { $0.endPosition = newValue } }
    }

    // MARK: Live

    /// The reaction to a live stream that has stopped updating. Default ``StalePolicy/fail``.
    public var stalePolicy: StalePolicy {
        get { preferences.stalePolicy }
        set { changePreferences { $0.stalePolicy = newValue } }
    }

    /// How long a live playlist may bring nothing new before ``stalePolicy`` decides; nil (the default) is 60 s or 10.5
    /// target durations, whichever is longer. A longer time also holds for a playlist that cannot be loaded.
    public var staleLimit: Duration? {
        get { preferences.staleLimit }
        set { changePreferences { $0.staleLimit = newValue } }
    }

    /// The reaction to a live window that moved past the item. Default ``FellBehindPolicy/jumpToEdge``. Where outputs take
    /// media as fast as it comes (recorders), that means the oldest segment as well. How much was lost is reported by
    /// ``PlayerEvent/Kind/segmentsMissed(_:)`` and the error log; what is lost while the player is paused, when it plays
    /// again.
    ///
    /// See docs/loading.md; M04.
    public var fellBehindPolicy: FellBehindPolicy {
        get { preferences.fellBehindPolicy }
        set { changePreferences { $0.fellBehindPolicy = newValue } }
    }
}
