function mpc = valley
%VALLEY  Six generators in a valley: the case of docs/allocate.md.
%   Made up for equipoise; no real system.

%% MATPOWER Case Format : Version 2
mpc.version = '2';
mpc.baseMVA = 100;

%% bus data
%	bus_i	type	Pd	Qd	Gs	Bs	area	Vm	Va	baseKV	zone	Vmax	Vmin
mpc.bus = [
	1	3	120	30	0	0	1	1	0	220	1	1.1	0.9;
	2	2	210	50	0	0	1	1	0	220	1	1.1	0.9;
	3	1	340	80	0	0	1	1	0	220	1	1.1	0.9;
	4	1	90	20	0	0	1	1	0	220	1	1.1	0.9;
	5	4	500	0	0	0	1	1	0	220	1	1.1	0.9;	% isolated: its load does not count
];

%% generator data
%	bus	Pg	Qg	Qmax	Qmin	Vg	mBase	status	Pmax	Pmin	Pc1	Pc2	Qc1min	Qc1max	Qc2min	Qc2max	ramp_agc	ramp_10	ramp_30	ramp_q	apf
mpc.gen = [
	1	0	0	100	-100	1	100	1	200	0	0	0	0	0	0	0	0	60	120	0	0;	% river
	1	0	0	100	-100	1	100	1	150	20	0	0	0	0	0	0	0	40	90	0	0;	% lake
	2	0	0	100	-100	1	100	1	300	50	0	0	0	0	0	0	0	0	30	0	0;	% coal
	2	0	0	100	-100	1	100	1	250	0	0	0	0	0	0	0	0	100	200	0	0;	% gas
	3	0	0	100	-100	1	100	1	120	0	0	0	0	0	0	0	0	120	120	0	0;	% oil
	4	0	0	100	-100	1	100	0	400	0	0	0	0	0	0	0	0	0	0	0	0;	% under repair
];

%% generator cost data
%	2	startup	shutdown	n	c(n-1)	...	c0
%	1	startup	shutdown	n	x1	y1	...	xn	yn
mpc.gencost = [
	2	0	0	2	4	0	0	0	0	0;
	2	0	0	3	0.02	6	10	0	0	0;
	2	0	0	3	0.01	18	120	0	0	0;
	1	0	0	3	0	0	150	3900	250	6900;
	2	0	0	3	0.05	42	30	0	0	0;
	2	0	0	3	0.01	9	0	0	0	0;
];
